// What the browser keeps from one visit to the next; nothing, where it may not keep anything.
const PREFIX = "fencepost.";

export function kept(name) {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + name));
  } catch {
    return null;
  }
}

export function keep(name, value) {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Then it is not kept.
  }
}
