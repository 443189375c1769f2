"""The page on which people see all clusters: values, and their HTML."""
