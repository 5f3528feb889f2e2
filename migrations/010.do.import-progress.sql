-- Tells whoever waits for a large import how far its one statement is: a notice reaches the
-- client at once, long before the statement ends. Always true, so it can stand in a condition.
create function tell_progress(place bigint) returns boolean
language plpgsql volatile as $$
begin
  if place % 1000 = 0 then
    raise notice 'starboard: 1000 more records stored';
  end if;
  return true;
end
$$;
