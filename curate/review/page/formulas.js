// Formulas in a text, set by KaTeX. The text around them, and whatever KaTeX refuses, stays as it was written.
"use strict";

// A lone dollar opens a formula only where no space follows, and closes one only behind no space and before no digit,
// as in pandoc: "$5 and $6" are prices. Formulas of all kinds end at an empty line.
const INSIDE = String.raw`(?:\\[^]|[^\\\n]|\n(?!\s*\n))+?`;
const FORMULA = new RegExp(
  String.raw`(?<!\\)(?:\$\$(${INSIDE})\$\$|\\\[(${INSIDE})\\\]|\\\((${INSIDE})\\\)|\$(?![\s$])((?:\\[^]|[^\\$\n]|\n(?!\s*\n))+)(?<!\s)\$(?!\d))`,
  "g",
);
// what is left of "$5 from Ann, who has 6$" once commands with their words are out: words side by side are no formula
const PROSE = /(?<![\\a-zA-Z])[a-zA-Z]{2,} +[a-zA-Z]{2,}/;
const COMMAND = /\\[a-zA-Z]+\s*\{[^{}]*\}/g;
const SAFE = {
  throwOnError: true, strict: "ignore", maxExpand: 200, maxSize: 8,
  // thrown, so that the whole source is shown: KaTeX would show the command and hide what it was given
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
    FORMULA.lastIndex = found.index + source.length; // another text may have been read meanwhile
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

// Fill an element with a text; `isAnswer`: a text without any mark that has a command in it is one formula.
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
