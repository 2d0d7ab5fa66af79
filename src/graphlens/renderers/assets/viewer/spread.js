// Things on a line, as near as they can be to where they want to be, in order, not overlapping:
// as in spread.py (isotonic regression, in linear time).

export function spread(wanted, reach, weights) {
  const offsets = [];
  let offset = 0;
  for (let i = 0; i < reach.length; i += 1) {
    if (i) offset += reach[i] + reach[i - 1];
    else offset += reach[i];
    offsets.push(offset);
  }
  const groups = [];
  for (let i = 0; i < wanted.length; i += 1) {
    let total = (wanted[i] - offsets[i]) * weights[i];
    let weight = weights[i];
    let count = 1;
    while (groups.length) {
      const before = groups[groups.length - 1];
      if (before.total * weight < total * before.weight) break;
      total += before.total;
      weight += before.weight;
      count += before.count;
      groups.pop();
    }
    groups.push({ total, weight, count });
  }
  const places = [];
  for (const { total, weight, count } of groups) {
    const place = Math.floor((2 * total + weight) / (2 * weight));
    for (let i = 0; i < count; i += 1) places.push(place + offsets[places.length]);
  }
  return places;
}
