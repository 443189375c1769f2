"""Differences of the proxies' script while the members' ports are being changed.

Each member then has a server for each pair of ports, named `<member>.<port>.<REST API's port>`. The
script of a cluster at rest stays as it is to the letter, so that no proxy is replaced for this.
"""

SEVERAL_WAYS = (
    (
        "local REST_PORT = @REST_PORT@\n",
        """-- The members' ports are being changed: a server is one way to a member, and counts only
-- where PostgreSQL is to be reached by it too.

""",
    ),
    (
        "local members = {}   -- {name, server, host,",
        "local members = {}   -- {name, of, sql_port, rest_port, server, host,",
    ),
    ("socket:connect(member.host, REST_PORT)", "socket:connect(member.host, member.rest_port)"),
    (
        "-- What a question finds out,",
        """-- Whether PostgreSQL is to be reached by this way.
local function opens(member)
  local socket = core.tcp()
  socket:settimeout(TIMEOUT_S)
  local is_open = socket:connect(member.host, member.sql_port)
  socket:close()
  return is_open
end

-- What a question finds out,""",
    ),
    ("target = members[name], ends_at", "target = name, ends_at"),
    (
        "if member == hint.target then return TARGET_MS",
        "if member.of == hint.target then return TARGET_MS",
    ),
    ("found == hint.target and", "found.of == hint.target and"),
    (
        "if member ~= target and answer(member) == 200",
        "if member.of ~= target and answer(member) == 200",
    ),
    ('"void, as " .. member.name', '"void, as " .. member.of'),
    (
        """      local status = answer(target)
      if status and status ~= 200 then put_down(target) end
""",
        """      for _, own in ipairs(members) do
        local status = own.of == target and answer(own)
        if status and status ~= 200 then put_down(own) end
      end
""",
    ),
    (
        "  if all_asked and target.writable then put_up(target) end\n",
        """  for _, own in ipairs(members) do
    if all_asked and own.of == target and own.writable then put_up(own) end
  end
""",
    ),
    (
        "  local writable = asked_for.kind",
        """  if status == 200 and not in_time(opens, member) then status = 503 end
  local writable = asked_for.kind""",
    ),
    (
        "member == asked_for.target and is_writable(member)\n",
        "member.of == asked_for.target and is_writable(member)\n    and in_time(opens, member)\n",
    ),
    (
        "    members[name] = member\n",
        """    member.of, member.sql_port, member.rest_port = name:match("^([^.]+)%.(%d+)%.(%d+)$")
    member.sql_port, member.rest_port = tonumber(member.sql_port), tonumber(member.rest_port)
    members[member.of] = true
""",
    ),
)
"""Replacements in the script where members have several ports: old text and new text."""
