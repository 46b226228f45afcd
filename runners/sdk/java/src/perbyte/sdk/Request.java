package perbyte.sdk;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.Strictness;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import java.io.IOException;
import java.io.StringReader;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** One request: strict JSON (RFC 8259), typed access; a field that is missing or of a wrong type is `malformed`. */
final class Request {
    private static final BigInteger SEEDS = BigInteger.ONE.shiftLeft(64);

    private final JsonObject fields;

    private Request(JsonObject fields) {
        this.fields = fields;
    }

    static Request parse(byte[] line, int length) throws Refusal {
        try {
            String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(line, 0, length)).toString();
            JsonReader reader = new JsonReader(new StringReader(text));
            reader.setStrictness(Strictness.STRICT);
            JsonElement element = JsonParser.parseReader(reader);
            if (!element.isJsonObject() || reader.peek() != JsonToken.END_DOCUMENT) {
                throw malformed("not one JSON object");
            }
            return new Request(element.getAsJsonObject());
        } catch (CharacterCodingException error) {
            throw malformed("not UTF-8");
        } catch (IOException | JsonParseException | IllegalStateException error) {
            throw malformed("not JSON: " + error.getMessage());
        }
    }

    static Refusal malformed(String message) {
        return new Refusal("malformed", message);
    }

    JsonObject fields() {
        return fields;
    }

    boolean has(String name) {
        return fields.has(name);
    }

    String text(String name) throws Refusal {
        JsonElement value = fields.get(name);
        if (value == null || !value.isJsonPrimitive() || !value.getAsJsonPrimitive().isString()) {
            throw malformed(name + " must be a text");
        }
        return value.getAsString();
    }

    boolean truth(String name) {
        JsonElement value = fields.get(name);
        return value != null && value.isJsonPrimitive() && value.getAsJsonPrimitive().isBoolean()
                && value.getAsBoolean();
    }

    /** A signed integer of 64 bits. */
    long integer(String name) throws Refusal {
        try {
            return wide(name).longValueExact();
        } catch (ArithmeticException error) {
            throw malformed(name + " is beyond 64 bits");
        }
    }

    /** An integer of 64 bits that is not negative. */
    long count(String name) throws Refusal {
        long value = integer(name);
        if (value < 0) {
            throw malformed(name + " is negative");
        }
        return value;
    }

    /** An unsigned integer of 64 bits, as the bits of a long. */
    long unsigned(String name) throws Refusal {
        BigInteger value = wide(name);
        if (value.signum() < 0 || value.compareTo(SEEDS) >= 0) {
            throw malformed(name + " is not within 64 bits");
        }
        return value.longValue();
    }

    double quantity(String name) throws Refusal {
        double value = number(name).doubleValue();
        if (!(value >= 0)) {
            throw malformed(name + " is negative");
        }
        return value;
    }

    Request object(String name) throws Refusal {
        JsonElement value = fields.get(name);
        if (value == null || !value.isJsonObject()) {
            throw malformed(name + " must be an object");
        }
        return new Request(value.getAsJsonObject());
    }

    /** The bytes of a hexadecimal field; null when it is not there. */
    byte[] hex(String name) throws Refusal {
        if (!has(name)) {
            return null;
        }
        return bytes(text(name), name);
    }

    /** The bytes of hexadecimal digits. */
    static byte[] bytes(String digits, String name) throws Refusal {
        byte[] bytes = new byte[digits.length() / 2];
        for (int i = 0; i < digits.length(); i++) {
            int digit = digits.charAt(i) < 128 ? Character.digit(digits.charAt(i), 16) : -1;
            if (digit < 0 || digits.length() % 2 != 0) {
                throw malformed(name + " is not hexadecimal");
            }
            bytes[i / 2] = (byte) (bytes[i / 2] << 4 | digit);
        }
        return bytes;
    }

    private BigInteger wide(String name) throws Refusal {
        BigDecimal value = number(name);
        try {
            // a limit before the conversion, so that 1e999999999 does not become a billion digits
            return value.precision() - value.scale() > 40 ? BigInteger.TEN.pow(40) : value.toBigIntegerExact();
        } catch (ArithmeticException error) {
            throw malformed(name + " must be an integer");
        }
    }

    private BigDecimal number(String name) throws Refusal {
        JsonElement value = fields.get(name);
        if (value == null || !value.isJsonPrimitive() || !value.getAsJsonPrimitive().isNumber()) {
            throw malformed(name + " must be a number");
        }
        try {
            return value.getAsBigDecimal();
        } catch (NumberFormatException error) {
            throw malformed(name + " is no number that can be held");
        }
    }
}
