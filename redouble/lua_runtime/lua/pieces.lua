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
  if n > KEPT or pieces[KEPT] ~= nil then -- the latter is left of a call that has failed
    return text, {}
  end
  for i = 1, n do
    pieces[i] = nil
  end
  return text, pieces
end
