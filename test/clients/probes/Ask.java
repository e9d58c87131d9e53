import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.*;
import java.text.SimpleDateFormat;
import java.util.ArrayList;
import java.util.List;
import java.util.TimeZone;

/**
 * Puts questions over JDBC as reporting programs do: by the type that the driver gives a column.
 *
 * java Ask.java URL QUESTIONS ANSWERS: a question a line; rows are separated by U+001E, fields by U+001F, answers by U+001D, null is U+0001.
 * The first row has the names, the second one the types. A question `?TYPE|VALUE|SQL` has a parameter. `~COMMAND|SQL` is prepared, and
 * asked twice more after a command: the rows are the two errors, or `read`.
 */
public class Ask {
  public static void main(String[] args) throws Exception {
    try (Connection mirror = DriverManager.getConnection(args[0]);
        PrintWriter answers = new PrintWriter(args[2], "UTF-8")) {
      for (String question : Files.readAllLines(Path.of(args[1]))) {
        answers.print(answer(mirror, question));
        answers.print('\u001d');
      }
    }
  }

  static String answer(Connection mirror, String question) {
    if (question.startsWith("~")) return twice(mirror, question.substring(1));
    try (Statement statement = mirror.createStatement(); ResultSet read = asked(mirror, statement, question)) {
      ResultSetMetaData about = read.getMetaData();
      List<String> names = new ArrayList<>(), types = new ArrayList<>(), rows = new ArrayList<>();
      for (int at = 1; at <= about.getColumnCount(); at++) {
        names.add(about.getColumnName(at));
        types.add(JDBCType.valueOf(about.getColumnType(at)).getName());
      }
      rows.add(String.join("\u001f", names));
      rows.add(String.join("\u001f", types));
      while (read.next()) {
        List<String> row = new ArrayList<>();
        for (int at = 1; at <= types.size(); at++) {
          String text = text(read, at, about.getColumnType(at));
          row.add(text == null || read.wasNull() ? "\u0001" : text);
        }
        rows.add(String.join("\u001f", row));
      }
      return String.join("\u001e", rows);
    } catch (Exception error) {
      return "error\u001f" + error;
    }
  }

  static String twice(Connection mirror, String question) {
    String[] parts = question.split("\\|", 2);
    try (PreparedStatement prepared = mirror.prepareStatement(parts[1])) {
      mirror.setAutoCommit(false); // Else the driver itself prepares it again.
      for (int times = 0; times < 6; times++) prepared.executeQuery().close(); // The server prepares the fifth.
      mirror.commit();
      int code = new ProcessBuilder("sh", "-c", parts[0]).inheritIO().start().waitFor();
      if (code != 0) return "error\u001f" + parts[0] + " ended with " + code;
      List<String> rows = new ArrayList<>(List.of("said", "VARCHAR"));
      for (int times = 0; times < 2; times++) {
        try (ResultSet read = prepared.executeQuery()) {
          rows.add("read");
        } catch (SQLException error) {
          rows.add(error.getMessage());
          mirror.rollback();
        }
      }
      mirror.setAutoCommit(true);
      return String.join("\u001e", rows);
    } catch (Exception error) {
      return "error\u001f" + error;
    }
  }

  static ResultSet asked(Connection mirror, Statement statement, String question) throws SQLException {
    if (!question.startsWith("?")) return statement.executeQuery(question);
    String[] parts = question.substring(1).split("\\|", 3);
    PreparedStatement prepared = mirror.prepareStatement(parts[2]);
    switch (parts[0]) {
      case "date": prepared.setDate(1, Date.valueOf(parts[1])); break;
      case "timestamp": prepared.setTimestamp(1, Timestamp.valueOf(parts[1])); break;
      case "decimal": prepared.setBigDecimal(1, new java.math.BigDecimal(parts[1])); break;
      case "integer": prepared.setLong(1, Long.parseLong(parts[1])); break;
      case "float": prepared.setDouble(1, Double.parseDouble(parts[1])); break;
      case "flag": prepared.setBoolean(1, parts[1].equals("1")); break;
      case "time": prepared.setTime(1, Time.valueOf(parts[1])); break;
      default: prepared.setString(1, parts[1]);
    }
    return prepared.executeQuery();
  }

  /** A value as a program reads it that goes by the column's type. */
  static String text(ResultSet read, int at, int type) throws SQLException {
    switch (type) {
      case Types.BIGINT: case Types.INTEGER:
        return String.valueOf(read.getLong(at));
      case Types.REAL: case Types.DOUBLE: case Types.FLOAT:
        return String.valueOf(read.getDouble(at));
      case Types.NUMERIC: case Types.DECIMAL:
        return read.getBigDecimal(at) == null ? null : read.getBigDecimal(at).toPlainString();
      case Types.DATE:
        try {
          return read.getDate(at) == null ? null : read.getDate(at).toString();
        } catch (SQLException error) {
          return error.getMessage();
        }
      case Types.TIMESTAMP: case Types.TIMESTAMP_WITH_TIMEZONE:
        return read.getTimestamp(at) == null ? null : utc(read.getTimestamp(at));
      default:
        return read.getString(at);
    }
  }

  static String utc(Timestamp instant) {
    SimpleDateFormat format = new SimpleDateFormat("yyyy-MM-dd HH:mm:ss.SSS");
    format.setTimeZone(TimeZone.getTimeZone("UTC"));
    return format.format(instant);
  }
}
