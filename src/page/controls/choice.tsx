interface ChoiceProps {
  label: string;
  value: string;
  words: readonly string[];
  onChoice: (word: string) => void;
}

/** One of some words, with its label. */
export function Choice({ label, value, words, onChoice }: ChoiceProps) {
  return (
    <label>
      <span>{label} </span>
      <select
        title={label}
        value={value}
        onChange={(event) => {
          onChoice(event.currentTarget.value);
        }}
      >
        {words.map((word) => (
          <option key={word}>{word}</option>
        ))}
      </select>
    </label>
  );
}
