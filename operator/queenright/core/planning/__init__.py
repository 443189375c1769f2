"""Planning parts that are the same for every kind: plan, backoff, disruption, rollout, guards."""
