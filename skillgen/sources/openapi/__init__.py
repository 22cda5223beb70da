"""Reads OpenAPI descriptions into the model: `document` loads the text, `service` and `operations` read it."""
