// The syntax of each language on a card.
import { element, prose } from "/assets/dom.js";

const CARDS = {
  tpl: {
    about: "TPL: threads are functions; all start at once. Values are 0 to `max_value` (255 if it is not given).",
    rows: [
      ["max_value 7; global x, y=1; na d;", "range of values; atomic locations; non-atomic locations"],
      ["fn name { local r; … }", "a thread, its locals first; `fn name[3]` makes three, `fn name[*]` any number"],
      ["r = x.load(acq);  x.store(e, rel);", "read; write. Modes: `rlx` (default), `acq`, `rel`, `seq_cst`"],
      ["r = FADD(x, e, acq, rel);", "add in one step; `r` gets the old value"],
      ["r = exchange(x, e, acq, rel);", "write in one step; `r` gets the old value"],
      ["r = CAS(x, old, new, acq, rel);", "write if `x` holds `old`; `BCAS` waits until it does"],
      ["wait(x, e, acq);", "wait until `x` holds the value"],
      ["lock(x);  unlock(x);", "a lock: 0 is free, 1 is taken"],
      ["fence;  fence(acq);  fence(rel);", "fences: `seq_cst`, acquire, release"],
      ["r = d.naload();  d.nastore(e);", "accesses to non-atomic locations"],
      ["if (e) { … } else { … }  while (e) { … }", "conditions and loops; `e` is of locals and numbers"],
      ["goto l;  l: …  oneof({ … }{ … });  skip;", "jumps, labels, a choice, nothing"],
      ["assert(e);  assume(e);", "report it if `e` is 0; end the thread if `e` is 0"],
      ["// mutex: cs", "the property that two threads are never both at the label `cs`"],
      ["// assert: x == 1 && t.r == 2", "the property that every final state has"],
    ],
  },
  litmus: {
    about: "C litmus tests of herd, for C++20 atomics. The first word is `C`, then comes the name.",
    rows: [
      ["C SB", "the header"],
      ["{ x = 0; y = 0; }", "initial values"],
      ["P0(atomic_int* x, atomic_int* y) { … }", "a thread with its locations"],
      ["atomic_store_explicit(x, 1, memory_order_release);", "write"],
      ["int r = atomic_load_explicit(y, memory_order_acquire);", "read"],
      ["atomic_fetch_add_explicit(x, 1, memory_order_acq_rel);", "also `exchange`, `compare_exchange_strong`, …"],
      ["atomic_thread_fence(memory_order_seq_cst);", "a fence"],
      ["*d = 1;", "a plain access; races on it are reported"],
      ["exists (0:r=0 /\\ 1:r=0)", "the final condition; also `~exists`, `forall`"],
    ],
  },
  automata: {
    about: "Automata for x86: a thread has states, and transitions with one instruction each. `#` starts a comment.",
    rows: [
      ["memory_size 2", "how many addresses there are; all hold 0 at first"],
      ["thread name … end", "a thread"],
      ["initial q0", "where it starts"],
      ["transition q0 q1 write 1 0", "write the value 1 at address 0"],
      ["transition q1 q2 read r 1", "read register `r` from address 1"],
      ["transition q2 q3 check == r 0", "go on only if this is true; operators come first"],
      ["transition q3 q4 mfence", "a fence; also `local r E`, `noop`"],
      ["… lock … unlock", "what stands between is one step"],
    ],
  },
  persist: {
    about: "Programs of the tool Persist: processes with labelled instructions, under store buffers.",
    rows: [],
  },
};
const PAGES = { tpl: "tpl", litmus: "litmus", automata: "automata", persist: "automata" };

export function showCard(format) {
  const card = CARDS[format] ?? CARDS.tpl;
  const table = element("table");
  for (const [code, meaning] of card.rows) {
    const row = table.insertRow();
    row.insertCell().append(element("code", code));
    row.insertCell().append(...prose(meaning));
  }
  const about = element("p");
  about.append(...prose(card.about));
  const more = element("p", "", "hint");
  more.append("More: ", page(PAGES[format] ?? "tpl", "the whole language"), ", ", page("tutorial", "the tutorial"), ".");
  document.getElementById("card-title").textContent = `Syntax: ${format}`;
  document.getElementById("card-text").replaceChildren(about, table, more);
  document.getElementById("card").showModal();
}

function page(name, words) {
  const link = element("a", words);
  Object.assign(link, { href: `/docs/${name}`, target: "_blank", rel: "noopener" });
  return link;
}
