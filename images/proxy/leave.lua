-- Ends the answers of the statistics listener as soon as the entry point's file LEAVING is there: the
-- node's check (check-proxy) then fails, and the virtual address goes to another node while this
-- proxy still serves. The other listeners are left as they are.

if core.thread > 1 then return end -- loaded once per thread; one of them is enough

local LEAVING = os.getenv("QUEENRIGHT_LEAVING")
local STATISTICS = "statistics"
local LOOK_MS = 100

core.register_task(function()
  while LEAVING do
    local file = io.open(LEAVING)
    if file then
      file:close()
      local statistics = core.proxies[STATISTICS]
      if statistics then statistics:pause() end
      return
    end
    core.msleep(LOOK_MS)
  end
end)
