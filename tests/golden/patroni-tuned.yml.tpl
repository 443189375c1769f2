# Patroni's configuration of cluster orders, made from its manifest.
scope: orders
name: ${NODE_NAME}
log:
  loggers:
    patroni.watchdog.base: DEBUG
raft:
  self_addr: ${RAFT_SELF}
  data_dir: /home/postgres/raft
  partner_addrs: ${RAFT_PARTNERS}
restapi:
  listen: 0.0.0.0:8008
  connect_address: ${NODE_CONNECT}:8008
  authentication:
    username: queenright
    password: ${PG_REST_PW}
postgresql:
  listen: 0.0.0.0:5432
  connect_address: ${NODE_CONNECT}:5432
  data_dir: /home/postgres/pgdata
  pgpass: /tmp/pgpass0
  use_unix_socket: true
  use_unix_socket_repl: true
  parameters:
    unix_socket_directories: /var/run/postgresql
  authentication:
    replication:
      username: replicator
      password: ${PG_REPLICATION_PW}
    superuser:
      username: postgres
      password: ${PG_SUPERUSER_PW}
tags:
  failover_priority: ${FAILOVER_PRIORITY}
  nofailover: false
  noloadbalancer: false
  clonefrom: true
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 5
    retry_timeout: 5
    maximum_lag_on_failover: 1048576
    check_timeline: true
    postgresql:
      use_pg_rewind: true
      basebackup:
      - checkpoint: fast
      - progress
      parameters:
        wal_level: replica
        max_wal_senders: 5
        max_replication_slots: 5
        hot_standby: 'on'
        wal_log_hints: 'on'
        archive_mode: 'off'
        shared_buffers: 2GB
        effective_cache_size: 6GB
        work_mem: 16MB
        maintenance_work_mem: 64MB
        max_connections: 200
        password_encryption: scram-sha-256
        log_connections: 'on'
        log_disconnections: 'on'
        log_statement: ddl
        log_line_prefix: '%m [%p] %q%u@%d '
        log_min_duration_statement: 250ms
        shared_preload_libraries: pg_stat_statements
        pg_stat_statements.max: 10000
      pg_hba:
      - local all postgres peer
      - local all all scram-sha-256
      - host replication replicator 10.77.0.0/24 scram-sha-256
      - host replication replicator 10.0.0.0/8 scram-sha-256
      - host all all 10.77.0.0/24 scram-sha-256
      - host all all 10.0.0.0/8 scram-sha-256
      - host all all 172.16.0.0/12 scram-sha-256
      - host reporting report 192.168.20.0/24 scram-sha-256
      - host all all 192.168.30.0/24 scram-sha-256
      - host all all 0.0.0.0/0 reject
      - local replication replicator scram-sha-256
    queenright_parameters: log_min_duration_statement pg_stat_statements.max shared_preload_libraries
  initdb:
  - encoding: UTF8
  - data-checksums
