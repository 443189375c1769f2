-- One thread a connection. Every thread reads or saves the page of its own, given as
-- METHOD URL BODY HEADER...; in BODY, @ is replaced by the version that the last save answered,
-- ~ for a number that no save had before.
local number = 0
function setup(thread)
  thread:set("mine", number)
  number = number + 1
end

function init(args)
  method = args[1]
  path = args[2 + mine % 4]
  body = args[6]
  headers = {}
  for i = 7, #args do
    local name, value = args[i]:match("^([^:]+): (.*)$")
    headers[name] = value
  end
  version = nil
  count = 0
end

function request()
  count = count + 1
  local text = nil
  -- The first request of a saver asks which version to begin with.
  if body ~= "" and version == nil then return wrk.format("GET", path, headers) end
  if body ~= "" then text = body:gsub("@", version):gsub("~", count) end
  return wrk.format(method, path, headers, text)
end

function response(status, _, answer)
  if body ~= "" then version = tonumber(answer:match('"version":(%d+)')) or 1 end
end
