-- Copy to /etc/opendkim/whole_body.lua. OpenDKIM runs it when it has read the header of a message, before it
-- verifies. If a signature covers only a part of the body (the tag l=), no signature of its domain counts.

local partial = {}
local index = 0
while index < 1000 do
  local field = odkim.get_header(ctx, "DKIM-Signature", index)
  if field == nil then break end
  local tags = ";" .. field
  if string.find(tags, ";%s*l%s*=") then
    local domain = string.match(tags, ";%s*d%s*=%s*([^;%s]+)")
    if domain ~= nil then partial[string.lower(domain)] = true end
  end
  index = index + 1
end

-- When OpenDKIM starts, it runs this script without a message, and then a domain is not a string.
for number = 0, (odkim.get_sigcount(ctx) or 0) - 1 do
  local signature = odkim.get_sighandle(ctx, number)
  local domain = odkim.sig_getdomain(signature)
  if type(domain) == "string" and partial[string.lower(domain)] then odkim.sig_ignore(signature) end
end

return nil
