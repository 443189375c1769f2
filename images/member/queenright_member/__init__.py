"""What the member image adds to PostgreSQL and Patroni: start, health check, create-db."""
