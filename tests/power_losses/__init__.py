"""Total power losses on the lab, in which unsynced data is really lost, and what each one costs."""
