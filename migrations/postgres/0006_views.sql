CREATE TABLE "dictionary" (
	"view" text NOT NULL,
	"column" text NOT NULL,
	"type" text NOT NULL,
	"unit" text,
	"meaning" text NOT NULL,
	"section" text,
	"label_en" text NOT NULL,
	"label_fr" text NOT NULL,
	CONSTRAINT "dictionary_view_column_pk" PRIMARY KEY("view","column")
);
--> statement-breakpoint
CREATE TABLE "relations" (
	"view" text NOT NULL,
	"column" text NOT NULL,
	"to_view" text NOT NULL,
	"to_column" text NOT NULL,
	"none" text,
	CONSTRAINT "relations_view_column_pk" PRIMARY KEY("view","column")
);
