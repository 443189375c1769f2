"""The member image's own part beside PostgreSQL and Patroni: start, health check, create-db."""
