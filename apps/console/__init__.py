"""The pages, in two languages. Views call operations only (D-42): what a page can do, every other door can do too."""
