-- At start, asks each server at once what HAProxy's checks would ask in seconds, and puts a server
-- up after `rise` good answers in a row. With the checks alone a proxy that is replaced leads
-- nowhere for two of their intervals.
--
-- The questions come from the configuration (CONFIG): the sections with `option httpchk GET <path>`
-- and their servers' `check port`. A section with other checks is left to HAProxy. Where one server
-- at most may be up (LONE) none is put up beside another one that is up or answered well. After
-- LASTS_S this does nothing any more: HAProxy's own checks go on all the time, and decide.

if core.thread > 1 then return end -- loaded once per thread; one of them is enough

local CONFIG = os.getenv("QUEENRIGHT_HAPROXY_CFG")
local LONE = {primary = true}
local PAUSE_MS, TIMEOUT_S, LASTS_S = 100, 1, 6
local DEFAULT_RISE = 2

-- The sections: {name, path, rise, servers = {{name, host, port}}}, without those of other checks.
local function sections()
  local found, section = {}, nil
  local file = CONFIG and io.open(CONFIG)
  if not file then return found end
  for line in file:lines() do
    local first, rest = line:match("^%s*(%S+)%s*(.*)$")
    if first == "listen" or first == "backend" then
      section = {name = rest:match("^%S+"), rise = DEFAULT_RISE, servers = {}}
      table.insert(found, section)
    elseif line:match("^%S") then
      section = nil
    elseif section and first == "option" then
      section.path = section.path or rest:match("^httpchk%s+GET%s+(/%S*)%s*$")
    elseif section and first == "http-check" then
      section.is_other = section.is_other or not rest:match("^expect%s+status%s+200%s*$")
    elseif section and first == "default-server" then
      section.rise = tonumber(rest:match("%f[%S]rise%s+(%d+)")) or section.rise
    elseif section and first == "server" then
      local name, host = rest:match("^(%S+)%s+([%w.-]+):%d+%s")
      local port = rest:match("%f[%S]check%s+port%s+(%d+)")
      if name and port then
        table.insert(section.servers, {name = name, host = host, port = tonumber(port), streak = 0})
      end
    end
  end
  file:close()
  return found
end

local function now()
  local time = core.now()
  return time.sec + time.usec / 1000000
end

local function answers_well(server, path)
  local socket = core.tcp()
  socket:settimeout(TIMEOUT_S)
  local line = socket:connect(server.host, server.port)
    and socket:send("GET " .. path .. " HTTP/1.0\r\n\r\n")
    and socket:receive("*l")
  socket:close()
  return line and line:match("^HTTP/%d%.%d 200") ~= nil
end

local function is_up(server)
  return server.there:get_stats().status:match("^UP") ~= nil
end

-- Whether the section leads to a server, or is about to, beside this one.
local function has_another(section, server)
  for _, other in ipairs(section.servers) do
    if other ~= server and (is_up(other) or other.streak > 0) then return true end
  end
  return false
end

local function look(section, server, ends_at)
  while now() < ends_at and not is_up(server) do
    server.streak = answers_well(server, section.path) and server.streak + 1 or 0
    if server.streak >= section.rise
      and not (LONE[section.name] and has_another(section, server)) then
      server.there:check_force_up()
      core.Info("queenright: " .. section.name .. "/" .. server.name .. " is up after "
        .. server.streak .. " good answers at start")
      return
    end
    core.msleep(PAUSE_MS)
  end
end

core.register_init(function()
  local ends_at = now() + LASTS_S
  for _, section in ipairs(sections()) do
    local there = core.proxies[section.name]
    for _, server in ipairs(section.path and not section.is_other and there and section.servers
        or {}) do
      server.there = there.servers[server.name]
    end
    for _, server in ipairs(section.servers) do
      if server.there then
        core.register_task(function() look(section, server, ends_at) end)
      end
    end
  end
end)
