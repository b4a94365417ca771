"""The whole site: all pages rendered, then built by MkDocs."""
