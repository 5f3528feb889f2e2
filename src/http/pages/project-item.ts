import type { ProjectRow } from "../../reads/ecosystem.ts";
import type { Item } from "./items.ts";
import { categoryText, countryText } from "./text.ts";

/** A project in a list, and at the head of its page. */
export function projectItem(
  project: Pick<ProjectRow, "id" | "name" | "category" | "country" | "totalVotes">,
): Item {
  const { id, name, category, country, totalVotes } = project;
  const kind = [categoryText(category), country === null ? "" : countryText(country)];
  return {
    type: "project",
    id,
    name,
    totalVotes,
    scope: "none",
    kind: kind.filter(Boolean).join(" · "),
  };
}
