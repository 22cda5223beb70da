"""What a document must not carry: credentials, instructions to the reader, private addresses."""
