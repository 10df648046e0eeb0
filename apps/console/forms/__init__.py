"""Forms of the pages. An operation checks what is sent; a form only asks for it in the reader's words."""
