// SPDX-License-Identifier: ISC
// A query for the list, then one more for each of its rows, one after another.
const good = process.argv.includes('good');
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function query(text, rows) {
  await sleep(10);
  return rows;
}

const customer = (id) => query(`select * from customers where id = ${id}`, { id });
const customers = (ids) => query(`select * from customers where id in (${ids})`, ids.map((id) => ({ id })));

async function showOrders() {
  const orders = await query('select * from orders', Array.from({ length: 12 }, (_, id) => ({ id })));
  if (good) return customers(orders.map((order) => order.id));
  const list = [];
  for (const order of orders) list.push(await customer(order.id));
  return list;
}

async function main() {
  console.log((await showOrders()).length, 'orders');
}

main();
