"""The whole way of an edit: the planner run on a model of the swarm until nothing is left."""
