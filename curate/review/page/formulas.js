// Sets the formulas of a text with KaTeX. Other text, and formulas that KaTeX refuses, stay unchanged.
"use strict";

// As in pandoc, a single dollar opens a formula only if no space follows, and closes one only if no space precedes and
// no digit follows: "$5 and $6" are prices. No formula contains an empty line.
const INSIDE = String.raw`(?:\\[^]|[^\\\n]|\n(?!\s*\n))+?`;
const FORMULA = new RegExp(
  String.raw`(?<!\\)(?:\$\$(${INSIDE})\$\$|\\\[(${INSIDE})\\\]|\\\((${INSIDE})\\\)|\$(?![\s$])((?:\\[^]|[^\\$\n]|\n(?!\s*\n))+)(?<!\s)\$(?!\d))`,
  "g",
);
// two words in a row, as in "$5 from Ann, who has 6$", are no formula, except in the arguments of commands
const PROSE = /(?<![\\a-zA-Z])[a-zA-Z]{2,} +[a-zA-Z]{2,}/;
const COMMAND = /\\[a-zA-Z]+\s*\{[^{}]*\}/g;
const SAFE = {
  throwOnError: true, strict: "ignore", maxExpand: 200, maxSize: 8,
  // thrown, so that the whole source is shown: KaTeX would show the command and hide its arguments
  trust: (context) => { throw new Error(`${context.command} is not followed here`); },
};

function* formulasIn(text) {
  FORMULA.lastIndex = 0;
  for (let found; (found = FORMULA.exec(text)); ) {
    const [source, dollars, brackets, parentheses, dollar] = found;
    if (dollar && PROSE.test(dollar.replace(COMMAND, ""))) {
      FORMULA.lastIndex = found.index + 1;
      continue;
    }
    const isDisplay = Boolean(dollars || brackets);
    yield { start: found.index, source, tex: dollars ?? brackets ?? parentheses ?? dollar, isDisplay };
    FORMULA.lastIndex = found.index + source.length; // another text may have been searched since
  }
}

function formula(source, tex, isDisplay) {
  const box = document.createElement("span");
  try {
    katex.render(tex, box, { ...SAFE, displayMode: isDisplay });
  } catch (error) {
    box.textContent = source;
    box.className = "unset";
    box.title = error.message;
  }
  return box;
}

// Fills an element with a text; with `isAnswer`, a text without delimiters that contains a command is one formula.
function setFormulas(target, text, isAnswer) {
  const found = [...formulasIn(text)];
  target.replaceChildren();
  if (isAnswer && !found.length && /\\[a-zA-Z]/.test(text)) return target.append(formula(text, text, false));
  let end = 0;
  for (const { start, source, tex, isDisplay } of found) {
    target.append(text.slice(end, start), formula(source, tex, isDisplay));
    end = start + source.length;
  }
  target.append(text.slice(end));
}
