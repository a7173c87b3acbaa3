import jakarta.xml.ws.BindingProvider;
import jakarta.xml.ws.Service;
import jakarta.xml.ws.soap.MTOMFeature;
import jakarta.xml.ws.soap.SOAPFaultException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import javax.xml.namespace.QName;

/** A client of the service: prints a line for each thing that works; the first that does not ends it with an error. */
public final class Client {
    private static String base;

    private static RandomByteIO port(String address, boolean mtom) throws Exception {
        Service service = Service.create(new URL(base + "?wsdl"), new QName(Names.RANDOM, "RandomByteIOService"));
        QName name = new QName(Names.RANDOM, "RandomByteIOPort");
        RandomByteIO port = mtom ? service.getPort(name, RandomByteIO.class, new MTOMFeature()) : service.getPort(name, RandomByteIO.class);
        ((BindingProvider) port).getRequestContext().put(BindingProvider.ENDPOINT_ADDRESS_PROPERTY, address);
        return port;
    }

    private static void expect(String name, byte[] found, byte[] wanted) {
        if (!Arrays.equals(found, wanted)) {
            throw new IllegalStateException(name + ": " + found.length + " bytes are not the " + wanted.length + " wanted");
        }
        System.out.println("ok " + name);
    }

    private static void fault(String name, RandomByteIO port, String wanted) {
        try {
            port.read(0, 1, 1, 0, Bytes.transfer("simple", null));
        } catch (SOAPFaultException error) {
            String detail = error.getFault().getDetail().getFirstChild().getLocalName();
            expect(name, detail.getBytes(StandardCharsets.UTF_8), wanted.getBytes(StandardCharsets.UTF_8));
            return;
        }
        throw new IllegalStateException(name + ": no fault");
    }

    public static void main(String[] arguments) throws Exception {
        base = arguments[0];
        byte[] content = Files.readAllBytes(Path.of(arguments[1]));
        for (String mechanism : new String[] {"simple", "mtom"}) {
            boolean mtom = mechanism.equals("mtom");
            RandomByteIO port = port(base, mtom);
            Transfer none = Bytes.transfer(mechanism, null);
            expect("read " + mechanism, Bytes.of(port.read(10, 1000, 1, 0, none)), Arrays.copyOfRange(content, 10, 1010));
            expect("large read " + mechanism, Bytes.of(port.read(0, content.length, 1, 0, none)), content);
            int end = content.length;
            expect("short read " + mechanism, Bytes.of(port.read(end - 5, 100, 1, 0, none)), Arrays.copyOfRange(content, end - 5, end));
            expect("read beyond the end " + mechanism, Bytes.of(port.read(end + 5, 100, 1, 0, none)), new byte[0]);
            RandomByteIO fresh = port(base + "-java-" + mechanism, mtom);
            fresh.truncAppend(0, Bytes.transfer(mechanism, "0123456789".getBytes(StandardCharsets.UTF_8)));
            fresh.write(2, 2, 4, Bytes.transfer(mechanism, "abcd".getBytes(StandardCharsets.UTF_8)));
            fresh.append(Bytes.transfer(mechanism, "end".getBytes(StandardCharsets.UTF_8)));
            byte[] wanted = "01ab45cd89end".getBytes(StandardCharsets.UTF_8);
            expect("write, append, truncAppend " + mechanism, Bytes.of(fresh.read(0, 100, 1, 0, none)), wanted);
            fresh.truncAppend(0, Bytes.transfer(mechanism, content));
            expect("large write " + mechanism, Bytes.of(fresh.read(0, end, 1, 0, none)), content);
        }
        fault("unknown resource", port(base + "-none", false), "ResourceUnknownFault");
        System.out.println("all ok");
        System.exit(0);
    }
}
