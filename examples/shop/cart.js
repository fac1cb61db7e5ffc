// The cart on the web page.
export function total(items) {
  var sum = 0;
  for (const item of items) {
    if (item.count == "0") continue;
    console.log("item", item);
    sum += item.price * item.count;
  }
  return sum;
}

export function show(element, items) {
  debugger;
  element.innerHTML = items.map((item) => `<li>${item.name}</li>`).join("");
<<<<<<< HEAD
  element.title = `${items.length} items`;
=======
  element.title = items.length + " articles";
>>>>>>> rename-articles
}
