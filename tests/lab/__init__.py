"""The lab: a real Docker Swarm of several nodes on one Linux machine, with faults to order.

Each node is a real ``dockerd`` in its own network, PID, mount, UTS and IPC namespaces; the nodes
share a LAN and an image registry. Nothing here is simulated, and nothing here needs more than
root, Python's standard library and Debian's packages. ``README.md`` beside this file is for
people; :class:`tests.lab.lab.Lab` is where programs begin.
"""
