# Patroni's configuration of cluster main, made from its manifest.
scope: main
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
    ttl: 30
    loop_wait: 10
    retry_timeout: 10
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
        shared_buffers: 256MB
        effective_cache_size: 512MB
        work_mem: 4MB
        maintenance_work_mem: 64MB
        max_connections: 200
        password_encryption: scram-sha-256
        log_connections: 'on'
        log_disconnections: 'on'
        log_statement: ddl
        log_line_prefix: '%m [%p] %q%u@%d '
      pg_hba:
      - local all postgres peer
      - local all all scram-sha-256
      - host replication replicator 10.77.0.0/24 scram-sha-256
      - host replication replicator 10.0.0.0/8 scram-sha-256
      - host all all 10.77.0.0/24 scram-sha-256
      - host all all 10.0.0.0/8 scram-sha-256
      - host all all 172.16.0.0/12 scram-sha-256
      - host all all 0.0.0.0/0 reject
      - local replication replicator scram-sha-256
  initdb:
  - encoding: UTF8
  - data-checksums
