"""What a source does not declare and its names and texts allow to infer; always marked as inferred."""
