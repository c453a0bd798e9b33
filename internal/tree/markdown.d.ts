// Markdown is imported as text (`with { type: "text" }`), so that the programs carry it.
declare module "*.md" {
  const text: string;
  export default text;
}
