-- The documents of the index orders, as README.md and docs/tutorial.md have them.
create or replace view search.orders as
select o.id as _id, o.status, o.placed_on,
  json_build_object('name', c.name, 'city', c.city) as customer,
  (select json_agg(json_build_object('product', p.name, 'quantity', l.quantity) order by l.number)
   from shop.lines as l join shop.products as p on p.id = l.product_id
   where l.order_id = o.id) as lines
from shop.orders as o join shop.customers as c on c.id = o.customer_id;
