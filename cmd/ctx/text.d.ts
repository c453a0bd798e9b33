// Files that are imported as their text, by `with { type: "text" }`.

declare module "*.bash" {
  const text: string;
  export default text;
}
declare module "*.fish" {
  const text: string;
  export default text;
}
declare module "*.zsh" {
  const text: string;
  export default text;
}
