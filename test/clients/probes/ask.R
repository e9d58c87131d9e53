# Runs the R of a page of docs/reporting, then puts questions over its connection `mirror`.
#
# ask.R PAGE QUESTIONS ANSWERS: a question a line; rows are separated by U+001E, fields by U+001F, answers by U+001D, null is
# U+0001. The first row has the names, the second one the types.
arguments <- commandArgs(trailingOnly = TRUE)
source(arguments[1], encoding = "UTF-8")

text <- function(values) {
  told <- if (inherits(values, "POSIXct")) {
    format(values + 0.0005, "%Y-%m-%d %H:%M:%OS3", tz = "UTC") # R cuts what a double has beyond the millisecond.
  } else if (inherits(values, "integer64") || is.character(values)) {
    as.character(values)
  } else if (is.integer(values)) {
    format(values, scientific = FALSE, trim = TRUE)
  } else if (is.numeric(values) && !inherits(values, "Date")) {
    sprintf("%.17g", values)
  } else {
    as.character(values)
  }
  told[is.na(values)] <- "\001"
  enc2utf8(told)
}

answer <- function(question) {
  read <- dbGetQuery(mirror, question)
  types <- vapply(read, function(values) class(values)[1], "")
  columns <- lapply(read, text)
  rows <- if (nrow(read) > 0) do.call(paste, c(unname(columns), sep = "\037")) else character()
  paste(c(paste(names(read), collapse = "\037"), paste(types, collapse = "\037"), rows), collapse = "\036")
}

told <- vapply(
  readLines(arguments[2], encoding = "UTF-8"),
  function(question) tryCatch(answer(question), error = function(error) paste0("error\037", conditionMessage(error))),
  ""
)
file <- file(arguments[3], "wb")
writeBin(charToRaw(paste0(told, collapse = "\035")), file)
close(file)
