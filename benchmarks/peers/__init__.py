"""Other programs' conversation stores on the same workloads as graphstore. One file a store."""
