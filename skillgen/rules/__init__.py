"""What a source lacks: the rules that `skillgen lint` checks, with their explanations."""
