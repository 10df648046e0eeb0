"""The views of the pages, a file an area. Each parses, asks operations, and fills the template that its pages have."""
