"""PostgreSQL's vocabulary: parameters, access rules, roles and databases, SCRAM verifiers."""
