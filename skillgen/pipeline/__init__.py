"""From a source to documents: source, service, documents, plan, write or diff. Nothing here prints."""
