"""The routes, one file per subject: each reads its parameters, asks the store for one thing, and shows it."""
