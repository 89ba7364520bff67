# SPDX-License-Identifier: ISC
# One query for the orders, and then one for the customer of each.
import asyncio
import sys

good = "good" in sys.argv


async def query(sql):
    await asyncio.sleep(0.005)
    return list(range(12))


async def load_customer(number):
    return (await query(f"select * from customers where number = {number}"))[0]


async def load_customers(numbers):
    return await query(f"select * from customers where number in {tuple(numbers)}")


async def show_orders():
    orders = await query("select * from orders")
    if good:
        customers = await load_customers(orders)
    else:
        customers = [await load_customer(number) for number in orders]
    print(len(customers), "customers")


async def main():
    await show_orders()
    print("done")


asyncio.run(main())
