// A lint rule of our own: no lookup by a word from outside in a plain object. `types[column]` finds `Object` where a column
// is called "constructor", and writing to "__proto__" loses the value. A Map knows only what was put into it; where a
// plain object has to be read, `ownValue` (engine/protocol/own.ts) looks at its own properties only.

import ts from 'typescript';

const message =
  'A word from outside may be called "constructor" or "__proto__": use a Map, or ownValue of engine/protocol/own.ts.';

export const noWordLookup = {
  meta: { type: 'problem', schema: [], messages: { lookup: message } },
  create(context) {
    const services = context.sourceCode.parserServices;
    const checker = services.program.getTypeChecker();
    return {
      'MemberExpression[computed=true]'(node) {
        if (beginsWithOurWord(node.property)) return;
        const key = services.getTypeAtLocation(node.property);
        if (!isAnyWord(key)) return;
        const object = checker.getNonNullableType(services.getTypeAtLocation(node.object));
        if (isDictionary(checker, object)) context.report({ node, messageId: 'lookup' });
      },
    };
  },
};

/** A key such as `c${index}`: nothing that every object has begins like it and ends in a number. */
function beginsWithOurWord({ type, quasis }) {
  return type === 'TemplateLiteral' && quasis[0].value.raw !== '';
}

/** A text that is not one of a few known ones. */
function isAnyWord(type) {
  const parts = type.isUnion() ? type.types : [type];
  return parts.some((part) => (part.flags & (ts.TypeFlags.String | ts.TypeFlags.TemplateLiteral)) !== 0);
}

/** An object whose keys are any words. Arrays, texts and maps of known keys are not. */
function isDictionary(checker, type) {
  const parts = type.isUnion() ? type.types : [type];
  return parts.some((part) => checker.getIndexInfoOfType(part, ts.IndexKind.String) !== undefined);
}
