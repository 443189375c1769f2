-- Where port "primary" leads while the operator plans something, for cluster main.
--
-- The operator's hint stands in Patroni's settings, as "<kind> <member> <seconds> <nonce>":
--   follow  the lead is about to move to that member: the members are asked often, for so long,
--           and the server is changed as soon as they answer otherwise.
--   pin     Patroni is paused and may be without quorum, when its /primary says no although the
--           member can be written to: the server stays up as long as it is primary in fact.
-- Only the health counters are set, as a check would: HAProxy's own checks go on all the time.

if core.thread > 1 then return end -- loaded once per thread; one of them is enough

-- The members' ports are being changed: a server is one way to a member, and counts only
-- where PostgreSQL is to be reached by it too.

local TIMEOUT_S = 1
local LONGEST_BODY = 65536
local HINT_MS, IDLE_MS, PIN_MS, WAIT_MS = 1000, 100, 1000, 5
local TARGET_MS, LEADER_MS, OTHER_MS = 50, 100, 500
local SETTLED_S, LONGEST_FOLLOW_S = 5, 300

local members = {}   -- {name, of, sql_port, rest_port, server, host, status, asked_at, answered_for}, by name and in order
local hint           -- {text, kind, target, ends_at, led_since, over}: nil when there is none
local complaints = {}

local function now()
  local time = core.now()
  return time.sec + time.usec / 1000000
end

local function say(text)
  core.Info("queenright: " .. text)
end

-- Says a thing when it begins to be so, not each second.
local function complain(about, text)
  if text and complaints[about] ~= text then core.Warning("queenright: " .. text) end
  complaints[about] = text
end

-- Status and what follows the status line; nothing when there is no answer in time.
local function request(member, method, path)
  local socket = core.tcp()
  socket:settimeout(TIMEOUT_S)
  local status, rest
  if socket:connect(member.host, member.rest_port)
    and socket:send(method .. " " .. path .. " HTTP/1.0\r\n\r\n") then
    local line = socket:receive("*l")
    status = line and tonumber(line:match("^HTTP/%d%.%d (%d%d%d)"))
    if status and method == "GET" then rest = socket:receive(LONGEST_BODY) end
  end
  socket:close()
  return status, rest
end

-- Whether PostgreSQL is to be reached by this way.
local function opens(member)
  local socket = core.tcp()
  socket:settimeout(TIMEOUT_S)
  local is_open = socket:connect(member.host, member.sql_port)
  socket:close()
  return is_open
end

-- What a question finds out, or nothing after a second: HAProxy may try a dead address for three.
local function in_time(question, ...)
  local arguments, found, is_over = table.pack(...), nil, false
  core.register_task(function()
    found = table.pack(pcall(question, table.unpack(arguments)))
    is_over = true
  end)
  local ends_at = now() + TIMEOUT_S
  while not is_over and now() < ends_at do core.msleep(WAIT_MS) end
  if is_over and not found[1] then error(found[2], 0) end
  if is_over then return table.unpack(found, 2) end
end

-- The JSON object in an answer with status 200; nothing when it is not there whole.
local function object_at(member, path)
  local status, rest = in_time(request, member, "GET", path)
  return status == 200 and rest and rest:match("\r?\n\r?\n%s*({.*})%s*$")
end

local function leads(member)
  return member.server:get_stats().status:match("^UP") ~= nil
end

-- The settings as the leader knows them, or else the first member that can be asked.
local function settings()
  for _, wanted in ipairs({true, false}) do
    for _, member in ipairs(members) do
      if leads(member) == wanted then
        local found = object_at(member, "/config")
        if found then return found end
      end
    end
  end
end

local function understood(text)
  local kind, name, seconds = text:match("^(%a+) (%S+) (%d+) %S+$")
  if not (kind == "follow" or kind == "pin") or not members[name] then return nil end
  local lasts_s = math.min(tonumber(seconds), LONGEST_FOLLOW_S)
  return {text = text, kind = kind, target = name, ends_at = now() + lasts_s}
end

local function read_hint()
  local found = settings()
  complain("settings", not found and "no member's settings can be read" or nil)
  if found then
    local text = found:match('"queenright_route"%s*:%s*"([^"\\]*)"')
    if text ~= (hint and hint.text) then
      hint = text and understood(text)
      if hint then
        say("hint: " .. text)
      elseif not text then
        say("no hint: the checks decide")
      end
    end
    complain("hint", text and not hint and "a hint that is not understood is passed over" or nil)
  end
  core.msleep(HINT_MS)
end

-- Milliseconds between two questions to a member; nothing when it need not be asked.
local function interval(member)
  if not hint or hint.over then return nil end
  if hint.kind == "pin" then return PIN_MS end
  if member.of == hint.target then return TARGET_MS end
  return leads(member) and LEADER_MS or OTHER_MS
end

-- The status of a member's last answer to /primary, as long as it is news.
local function answer(member)
  local pause = interval(member)
  local fresh_s = hint.kind == "pin" and 3 * PIN_MS / 1000 or (pause + 300) / 1000
  local is_news = member.answered_for == hint and now() - member.asked_at <= fresh_s
  return is_news and member.status or nil
end

local function put_down(member)
  member.server:check_force_down()
end

local function put_up(member)
  for _, other in ipairs(members) do
    if other ~= member then put_down(other) end
  end
  member.server:check_force_up()
end

-- The one member that answers 200, and how many do.
local function primary()
  local found, count = nil, 0
  for _, member in ipairs(members) do
    if answer(member) == 200 then found, count = member, count + 1 end
  end
  return found, count
end

local function follow()
  local found, count = primary()
  if now() > hint.ends_at then
    hint.over = true
  elseif count == 1 then
    put_up(found)
    hint.led_since = found.of == hint.target and (hint.led_since or now()) or nil
    hint.over = hint.led_since and now() - hint.led_since > SETTLED_S
  elseif count == 0 then
    for _, member in ipairs(members) do
      if answer(member) then put_down(member) end
    end
  end
  if hint.over then say("no longer followed: " .. hint.text) end
end

local function pin()
  local target, all_asked = hint.target, true
  for _, member in ipairs(members) do
    all_asked = all_asked and member.answered_for == hint
    if member.of ~= target and answer(member) == 200 then
      hint.over = true
      say("void, as " .. member.of .. " is primary: " .. hint.text)
      for _, own in ipairs(members) do
        local status = own.of == target and answer(own)
        if status and status ~= 200 then put_down(own) end
      end
      return
    end
  end
  for _, own in ipairs(members) do
    if all_asked and own.of == target and own.writable then put_up(own) end
  end
end

-- What PostgreSQL itself says, past the leader lock.
local function is_writable(member)
  local found = object_at(member, "/patroni")
  return found and found:match('"role"%s*:%s*"primary"') ~= nil
    and found:match('"state"%s*:%s*"running"') ~= nil
end

local function ask(member)
  local pause = interval(member)
  if not pause then return core.msleep(IDLE_MS) end
  local asked_for, asked_at = hint, now()
  local status = in_time(request, member, "OPTIONS", "/primary")
  if status == 200 and not in_time(opens, member) then status = 503 end
  local writable = asked_for.kind == "pin" and member.of == asked_for.target and is_writable(member)
    and in_time(opens, member)
  if hint == asked_for and not hint.over then
    member.status, member.asked_at, member.answered_for = status, asked_at, hint
    member.writable = writable
    if hint.kind == "pin" then pin() else follow() end
  end
  core.msleep(pause)
end

local function for_ever(round, argument)
  core.register_task(function()
    while true do
      local done, problem = pcall(round, argument)
      complain(argument or round, not done and "a round failed: " .. tostring(problem) or nil)
      if not done then core.msleep(HINT_MS) end
    end
  end)
end

core.register_init(function()
  for name, server in pairs(core.proxies["primary"].servers) do
    local member = {name = name, server = server, host = server:get_addr():match("^(.*):%d+$")}
    member.of, member.sql_port, member.rest_port = name:match("^([^.]+)%.(%d+)%.(%d+)$")
    member.sql_port, member.rest_port = tonumber(member.sql_port), tonumber(member.rest_port)
    members[member.of] = true
    table.insert(members, member)
  end
  table.sort(members, function(one, other) return one.name < other.name end)
  for_ever(read_hint)
  for _, member in ipairs(members) do for_ever(ask, member) end
end)
