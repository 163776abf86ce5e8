-- Strings put together from many pieces, in a table that is kept from one call to the next.
--
-- To let a new table grow costs more than all else where the pieces are few, as they nearly always are. So each
-- user has one table. It is emptied after use, and replaced if it has grown large: it may hold no memory for long.

local kit = ...
local concat = table.concat

local KEPT = 64

-- The pieces 1 to `n` as one string, and the table for the next call.
function kit.joined(pieces, n)
  local text = concat(pieces, "", 1, n)
  if pieces[KEPT] ~= nil then
    return text, {}
  end
  local i = 1
  while pieces[i] ~= nil do -- a call that has failed may have left some behind `n`
    pieces[i], i = nil, i + 1
  end
  return text, pieces
end
