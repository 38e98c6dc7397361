-- Body of the function that leads from values of a capture, $1, to ids of documents. In PL/pgSQL, which keeps the plan of
-- the query: a function in SQL plans it at each call, and that took longer than the query.
--   {query}  from $1, an array of the value type, to texts
#variable_conflict use_column
begin
  return query
{query};
end
