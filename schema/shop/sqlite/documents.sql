-- The documents of the index orders: those of schema/shop/postgresql.
drop view if exists search_orders;
create view search_orders as
select o.id as _id, o.status, o.placed_on,
  json_object('name', c.name, 'city', c.city) as customer,
  (select json_group_array(json_object('product', name, 'quantity', quantity))
   from (select p.name, l.quantity
         from lines as l join products as p on p.id = l.product_id
         where l.order_id = o.id
         order by l.number)) as lines
from orders as o join customers as c on c.id = o.customer_id;
