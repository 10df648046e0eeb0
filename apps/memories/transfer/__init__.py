"""Many documents at once: folders of Markdown coming in and going out, as jobs that can be stopped and killed anywhere."""
