CREATE TABLE "unlisted_rows" (
	"kind" text NOT NULL,
	"record_id" text NOT NULL,
	CONSTRAINT "unlisted_rows_kind_record_id_pk" PRIMARY KEY("kind","record_id")
);
