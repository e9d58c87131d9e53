CREATE TABLE `unlisted_rows` (
	`kind` text NOT NULL,
	`record_id` text NOT NULL,
	PRIMARY KEY(`kind`, `record_id`)
);
