"""Renders a service as documents: decisions here, order and wording in the templates. Knows nothing of sources."""
