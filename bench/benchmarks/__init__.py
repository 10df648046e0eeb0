"""One module a benchmark; its name on the command line is the module's."""
