"""An S3 server on one volume: OpenStack Swift's servers, one of each."""
